package recipes;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The pool of connections. */
public final class Database implements AutoCloseable {
    /** How long a request waits for a connection. */
    private static final long ACQUIRE_MS = 1_500;

    /** PostgreSQL ends a statement after 2 s, PgBouncer one of a database that hangs after 3 s. */
    private static final String SOCKET_S = "4";

    /**
     * Classes of https://www.postgresql.org/docs/17/errcodes-appendix.html: connection (and PgBouncer's own errors), no such
     * database, resources, operator; 0A and 26 are statements that were prepared before the tables changed.
     */
    private static final Set<String> OUTAGES = Set.of("08", "0A", "26", "3D", "53", "57");

    private final HikariDataSource pool;
    private final Settings settings;

    interface Work<T> {
        T with(Connection connection) throws SQLException, Refusal;
    }

    interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** The pool opens its connections in the background: the server starts, and answers, without a database. */
    Database(Settings settings) {
        this.settings = settings;
        // A ping would be a ninth round trip; a connection that broke is told by its next statement, and replaced.
        System.setProperty("com.zaxxer.hikari.aliveBypassWindowMs", String.valueOf(Integer.MAX_VALUE));
        var at = URI.create(settings.databaseUrl());
        var user = at.getUserInfo().split(":", 2);
        var config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://%s:%d%s?%s".formatted(at.getHost(), at.getPort(), at.getPath(), at.getQuery()));
        config.setUsername(user[0]);
        config.setPassword(user[1]);
        config.setMaximumPoolSize(settings.poolMax());
        config.setMinimumIdle(settings.persistent() ? settings.poolMax() : 0);
        config.setConnectionTimeout(ACQUIRE_MS);
        config.setInitializationFailTimeout(-1);
        config.addDataSourceProperty("prepareThreshold", settings.prepare() ? "1" : "0");
        config.addDataSourceProperty("assumeMinServerVersion", "17");
        // PgBouncer would set another one on each of its connections.
        config.addDataSourceProperty("ApplicationName", "");
        config.addDataSourceProperty("socketTimeout", SOCKET_S);
        config.addDataSourceProperty("connectTimeout", "1");
        config.addDataSourceProperty("tcpKeepAlive", "true");
        pool = new HikariDataSource(config);
    }

    /** Lends a connection to the work of a request. */
    <T> T lend(Work<T> work) throws SQLException, Refusal {
        try (var connection = pool.getConnection()) {
            try {
                return work.with(connection);
            } finally {
                givenBack(connection);
            }
        }
    }

    private void givenBack(Connection connection) throws SQLException {
        if (settings.reset() && !connection.isClosed()) {
            execute(connection, "DISCARD ALL");
        }
        if (!settings.persistent()) {
            pool.evictConnection(connection);
        }
    }

    /** Where it is for each request to set. */
    void setTimeZone(Connection connection) throws SQLException {
        if (settings.zoneEachRequest()) {
            execute(connection, "SET TIME ZONE 'UTC'");
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    static <T> List<T> all(Connection connection, Query query, Reader<T> reader, Object... values) throws SQLException {
        try (var statement = query.with(connection, values);
                var rows = statement.executeQuery()) {
            var found = new ArrayList<T>();
            while (rows.next()) {
                found.add(reader.read(rows));
            }
            return found;
        }
    }

    static <T> Optional<T> first(Connection connection, Query query, Reader<T> reader, Object... values) throws SQLException {
        return all(connection, query, reader, values).stream().findFirst();
    }

    /** Tells an outage from a bug, such as a mistake in a statement. */
    static boolean isOutage(SQLException error) {
        var state = error.getSQLState();
        return state == null || OUTAGES.contains(state.substring(0, 2));
    }

    @Override
    public void close() {
        pool.close();
    }
}
