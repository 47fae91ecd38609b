pganon show unbounded --json > before.json
pganon show informed --json > after.json
python - << 'END'
import json
def posterior(file):
    text = json.load(open(file))
    def find(node):
        if isinstance(node, dict):
            if "posterior" in node and node["posterior"]:
                return node["posterior"]
            node = list(node.values())
        if isinstance(node, list):
            for child in node:
                if (found := find(child)) is not None:
                    return found
        return None
    return find(text)
before, after = posterior("before.json"), posterior("after.json")
assert before["estimate"]["above"] > 0.04, before
assert after["estimate"]["above"] < 0.02, after
assert before["estimate"]["gain"] > after["estimate"]["gain"], (before, after)
END
