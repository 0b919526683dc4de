package recipes;

import static recipes.Database.all;
import static recipes.Database.first;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import recipes.Models.Dashboard;
import recipes.Models.Event;
import recipes.Models.EventSummary;
import recipes.Models.Ingredient;
import recipes.Models.Note;
import recipes.Models.NoteCreated;
import recipes.Models.NoteSummary;
import recipes.Models.Reaction;
import recipes.Models.Recipe;
import recipes.Models.RecipeSummary;
import recipes.Models.Section;
import recipes.Models.Step;
import recipes.Models.TeamSummary;

/** The API. The statements of a request are sent one after the other. */
final class Recipes extends Api {
    private static final int NOTE_MOST = 10_000;
    private static final Pattern ONE = Pattern.compile("/[^/]+");
    private static final Pattern NOTES = Pattern.compile("/([^/]+)/notes");
    private final transient Database database;

    Recipes(Database database) {
        this.database = database;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(response, () -> {
            var path = path(request);
            if (request.getServletPath().endsWith("/dashboard")) {
                json(response, 200, dashboard(session(request)));
            } else if (path.isEmpty()) {
                json(response, 200, random(session(request)));
            } else if (ONE.matcher(path).matches()) {
                var id = id(path.substring(1));
                json(response, 200, byId(session(request), id));
            } else {
                notHere(response, NOTES.matcher(path).matches());
            }
        });
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(response, () -> {
            var path = path(request);
            var notes = NOTES.matcher(path);
            if (notes.matches()) {
                var id = id(notes.group(1));
                json(response, 201, writeNote(session(request), id, note(request)));
            } else {
                notHere(response, path.isEmpty() || ONE.matcher(path).matches());
            }
        });
    }

    private static void notHere(HttpServletResponse response, boolean otherMethod) throws IOException, Refusal {
        if (!otherMethod) {
            throw Refusal.notFound();
        }
        response.sendError(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
    }

    private Recipe random(String session) throws SQLException, Refusal {
        return database.lend(connection -> {
            var user = user(connection, session);
            return load(connection, first(connection, Query.RECIPE_RANDOM, Recipe::of, user));
        });
    }

    private Recipe byId(String session, int id) throws SQLException, Refusal {
        return database.lend(connection -> {
            var user = user(connection, session);
            return load(connection, first(connection, Query.RECIPE_BY_ID, Recipe::of, user, id));
        });
    }

    private static Recipe load(Connection connection, Optional<Recipe> found) throws SQLException, Refusal {
        var recipe = found.orElseThrow(Refusal::notFound);
        var ingredients = all(connection, Query.INGREDIENTS, Ingredient::of, recipe.id());
        var steps = all(connection, Query.STEPS, Step::of, recipe.id());
        var sections = all(connection, Query.SECTIONS, Section::of, recipe.id());
        var notes = all(connection, Query.NOTES, Note::of, recipe.id());
        var reactions = all(connection, Query.REACTIONS, Reaction::of, recipe.id());
        var events = all(connection, Query.TIMELINE_EVENTS, Event::of, recipe.id());
        return recipe.with(ingredients, steps, sections, notes, reactions, events);
    }

    private NoteCreated writeNote(String session, int recipe, String text) throws SQLException, Refusal {
        return database.lend(connection -> {
            var user = user(connection, session);
            connection.setAutoCommit(false);
            try {
                var stored = first(connection, Query.NOTE_INSERT, row -> row.getInt("id"), user, recipe, text);
                var id = stored.orElseThrow(Refusal::notFound);
                try (var event = Query.EVENT_INSERT.with(connection, user, recipe)) {
                    event.executeUpdate();
                }
                connection.commit();
                return new NoteCreated(id);
            } catch (SQLException | Refusal error) {
                connection.rollback();
                throw error;
            } finally {
                connection.setAutoCommit(true);
            }
        });
    }

    /** The session's connection is free again before the four reads. */
    private Dashboard dashboard(String session) throws SQLException, Refusal {
        var user = database.lend(connection -> user(connection, session));
        return database.lend(connection -> new Dashboard(
                user,
                all(connection, Query.DASHBOARD_RECIPES, RecipeSummary::of, user),
                all(connection, Query.DASHBOARD_TEAMS, TeamSummary::of, user),
                all(connection, Query.DASHBOARD_NOTES, NoteSummary::of, user),
                all(connection, Query.DASHBOARD_EVENTS, EventSummary::of, user)));
    }

    private int user(Connection connection, String session) throws SQLException, Refusal {
        database.setTimeZone(connection);
        return first(connection, Query.SESSION, row -> row.getInt("user_id"), session)
                .orElseThrow(Refusal::unauthorized);
    }

    private static String path(HttpServletRequest request) {
        var path = request.getPathInfo();
        return path == null ? "" : path;
    }

    private static String session(HttpServletRequest request) throws Refusal {
        var cookies = request.getCookies();
        return Arrays.stream(cookies == null ? new Cookie[0] : cookies)
                .filter(cookie -> cookie.getName().equals("sessionid") && cookie.getValue().indexOf('\0') < 0)
                .findFirst()
                .orElseThrow(Refusal::unauthorized)
                .getValue();
    }

    /** A number from 1: others are refused before the database is asked. */
    static int id(String text) throws Refusal {
        try {
            var id = text.matches("[0-9]+") ? Integer.parseInt(text) : 0;
            if (id > 0) {
                return id;
            }
        } catch (NumberFormatException error) {
            // too large
        }
        throw Refusal.badRequest();
    }

    /** 1 to 10,000 characters, none of them U+0000, which PostgreSQL cannot store. */
    private static String note(HttpServletRequest request) throws IOException, Refusal {
        var body = read(request, Map.class);
        if (body.size() != 1 || !(body.get("text") instanceof String text) || !isNote(text)) {
            throw Refusal.unprocessable();
        }
        return text;
    }

    static boolean isNote(String text) {
        var length = text.codePointCount(0, text.length());
        return length >= 1
                && length <= NOTE_MOST
                && text.codePoints().noneMatch(each -> each == 0 || each >= 0xd800 && each <= 0xdfff);
    }
}
