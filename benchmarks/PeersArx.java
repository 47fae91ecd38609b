import java.io.File;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/** Local recoding with ARX: FOLDER SENSITIVE K L COLUMN...; FOLDER has in.csv and hierarchies. */
public class PeersArx {
    public static void main(String[] given) throws Exception {
        File folder = new File(given[0]);
        String sensitive = given[1];
        int k = Integer.parseInt(given[2]);
        int l = Integer.parseInt(given[3]);
        Data data = Data.create(new File(folder, "in.csv"), StandardCharsets.UTF_8, ';');
        for (int place = 4; place < given.length; place++) {
            File rows = new File(folder, given[place] + ".csv");
            data.getDefinition().setAttributeType(
                given[place], Hierarchy.create(rows, StandardCharsets.UTF_8, ';'));
        }
        ARXConfiguration asked = ARXConfiguration.create(1d, Metric.createLossMetric(0d));
        asked.addPrivacyModel(new KAnonymity(k));
        data.getDefinition().setAttributeType(
            sensitive,
            l > 0 ? AttributeType.SENSITIVE_ATTRIBUTE : AttributeType.INSENSITIVE_ATTRIBUTE);
        if (l > 0) {
            asked.addPrivacyModel(new DistinctLDiversity(sensitive, l));
        }
        ARXResult result = new ARXAnonymizer().anonymize(data, asked);
        DataHandle released = result.getOutput();
        result.optimizeIterativeFast(released, 0.01d);
        try (PrintWriter out = new PrintWriter(new File(folder, "out.csv"), "UTF-8")) {
            Iterator<String[]> rows = released.iterator();
            out.println(String.join(";", rows.next()));
            for (int row = 0; rows.hasNext(); row++) {
                String[] values = rows.next();
                if (!released.isOutlier(row)) {
                    out.println(String.join(";", values));
                }
            }
        }
    }
}
