// A page of a folder may start no worker, which search needs: its script runs in a frame instead.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><body>";
      this.ready = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inner = frame.contentWindow;
          inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const load = (source) =>
            new Promise((loaded, failed) => {
              const script = inner.document.createElement("script");
              script.src = source;
              script.addEventListener("load", loaded);
              script.addEventListener("error", failed);
              inner.document.body.append(script);
            });
          inner.importScripts = (...sources) =>
            sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
          load(url).then(() => resolve(inner));
        }, { once: true });
      });
      document.documentElement.append(frame);
    }

    postMessage(data) {
      this.ready.then((inner) => inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };
}
