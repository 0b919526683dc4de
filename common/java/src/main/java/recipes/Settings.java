package recipes;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.logging.Level;

/** The settings of the contract. A variable that is empty counts as not set. */
public record Settings(
        int port,
        String databaseUrl,
        Level logLevel,
        int threads,
        int poolMax,
        boolean persistent,
        boolean prepare,
        boolean reset,
        boolean zoneEachRequest,
        boolean accessLog) {

    private static final String DATABASE_URL = "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable";

    /** Tomcat's own default: https://tomcat.apache.org/tomcat-11.0-doc/config/http.html */
    private static final int THREADS = 200;

    /** Throws IllegalArgumentException, which names the variable. */
    public static Settings read(UnaryOperator<String> lookup) {
        return new Settings(
                number(lookup, "PORT", 8080, 65_535),
                text(lookup, "DATABASE_URL", DATABASE_URL),
                switch (choice(lookup, "LOG_LEVEL", "warn", List.of("debug", "info", "warn", "error"))) {
                    case "debug" -> Level.FINE;
                    case "info" -> Level.INFO;
                    case "warn" -> Level.WARNING;
                    default -> Level.SEVERE;
                },
                number(lookup, "THREADS", THREADS, 1 << 16),
                number(lookup, "DB_POOL_MAX", 20, 1 << 16),
                flag(lookup, "DB_PERSISTENT", "1"),
                flag(lookup, "DB_PREPARE", "1"),
                flag(lookup, "DB_RESET", "0"),
                choice(lookup, "DB_TIME_ZONE", "connection", List.of("connection", "request")).equals("request"),
                flag(lookup, "ACCESS_LOG", "0"));
    }

    private static String text(UnaryOperator<String> lookup, String name, String otherwise) {
        var value = lookup.apply(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private static int number(UnaryOperator<String> lookup, String name, int otherwise, int most) {
        var value = text(lookup, name, String.valueOf(otherwise));
        if (!value.matches("[0-9]{1,6}") || Integer.parseInt(value) < 1 || Integer.parseInt(value) > most) {
            throw new IllegalArgumentException(name + " must be a whole number from 1 to " + most);
        }
        return Integer.parseInt(value);
    }

    private static String choice(UnaryOperator<String> lookup, String name, String otherwise, List<String> values) {
        var value = text(lookup, name, otherwise);
        if (!values.contains(value)) {
            throw new IllegalArgumentException(name + " must be one of " + values);
        }
        return value;
    }

    private static boolean flag(UnaryOperator<String> lookup, String name, String otherwise) {
        return choice(lookup, name, otherwise, List.of("0", "1")).equals("1");
    }
}
