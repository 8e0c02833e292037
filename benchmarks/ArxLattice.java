import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/**
 * The least loss over a lattice by ARX: every attribute on one level, records suppressed up to a share.
 *
 * Arguments: the records (CSV, ;), the folder of the hierarchies (attribute.csv, the values first), k, and the shares.
 * Prints a line for each share: the share; attribute=level, …; rows suppressed.
 */
public class ArxLattice {
    public static void main(String[] arguments) throws Exception {
        Data data = Data.create(arguments[0], StandardCharsets.UTF_8, ';');
        DataHandle handle = data.getHandle();
        for (int column = 0; column < handle.getNumColumns(); column++) {
            String attribute = handle.getAttributeName(column);
            Hierarchy hierarchy = Hierarchy.create(arguments[1] + "/" + attribute + ".csv", StandardCharsets.UTF_8, ';');
            data.getDefinition().setAttributeType(attribute, hierarchy);
        }
        for (int i = 3; i < arguments.length; i++) {
            data.getHandle().release();
            ARXConfiguration configuration = ARXConfiguration.create();
            configuration.addPrivacyModel(new KAnonymity(Integer.parseInt(arguments[2])));
            configuration.setSuppressionLimit(Double.parseDouble(arguments[i]));
            // Generalisation and suppression weigh the same; the mean over records and attributes.
            configuration.setQualityModel(Metric.createLossMetric(0.5, Metric.AggregateFunction.ARITHMETIC_MEAN));
            ARXResult result = new ARXAnonymizer().anonymize(data, configuration);
            DataHandle output = result.getOutput(false);
            int suppressed = 0;
            for (int row = 0; row < output.getNumRows(); row++) {
                if (output.isOutlier(row)) suppressed++;
            }
            StringBuilder levels = new StringBuilder();
            for (String attribute : result.getGlobalOptimum().getQuasiIdentifyingAttributes()) {
                int level = result.getGlobalOptimum().getGeneralization(attribute);
                levels.append(attribute).append("=").append(level).append(",");
            }
            System.out.println(arguments[i] + ";" + levels + ";" + suppressed);
            output.release();
        }
    }
}
