package recipes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Locale;
import java.util.regex.Pattern;

/** A statement of the contract, read from its file. JDBC numbers no placeholders, so each has its own, in the order of the text. */
public enum Query {
    SESSION,
    RECIPE_RANDOM,
    RECIPE_BY_ID,
    INGREDIENTS,
    STEPS,
    SECTIONS,
    NOTES,
    REACTIONS,
    TIMELINE_EVENTS,
    NOTE_INSERT,
    EVENT_INSERT,
    DASHBOARD_RECIPES,
    DASHBOARD_TEAMS,
    DASHBOARD_NOTES,
    DASHBOARD_EVENTS;

    private final String text;
    private final int[] parameters;

    Query() {
        try {
            var sql = Files.readString(Path.of("/app/contract/sql/queries", name().toLowerCase(Locale.ROOT) + ".sql"));
            var placeholders = Pattern.compile("\\$(\\d)").matcher(sql);
            parameters = placeholders.results().mapToInt(one -> Integer.parseInt(one.group(1)) - 1).toArray();
            text = placeholders.replaceAll("?");
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    PreparedStatement with(Connection connection, Object... values) throws SQLException {
        var statement = connection.prepareStatement(text);
        for (var place = 0; place < parameters.length; place++) {
            switch (values[parameters[place]]) {
                case Integer number -> statement.setInt(place + 1, number);
                case Object other -> statement.setString(place + 1, (String) other);
            }
        }
        return statement;
    }
}
