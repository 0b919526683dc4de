package recipes;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The bodies of the API, with their keys in the order of the contract, and how they are read from rows. */
final class Models {
    private Models() {}

    record Owner(String kind, int id) {}

    record Recipe(
            int id,
            String name,
            String author,
            String source,
            String time,
            String servings,
            int edits,
            String created,
            String modified,
            @JsonProperty("archived_at") String archivedAt,
            List<String> tags,
            Owner owner,
            List<Record> ingredients,
            List<Step> steps,
            List<Record> timeline) {
        /** Without its parts. */
        static Recipe of(ResultSet row) throws SQLException {
            var kind = row.getInt("content_type_id") == 20 ? "team" : "user";
            return new Recipe(
                    row.getInt("id"),
                    row.getString("name"),
                    row.getString("author"),
                    row.getString("source"),
                    row.getString("time"),
                    row.getString("servings"),
                    row.getInt("edits"),
                    moment(row, "created"),
                    moment(row, "modified"),
                    moment(row, "archived_at"),
                    Arrays.asList((String[]) row.getArray("tags").getArray()),
                    new Owner(kind, row.getInt("object_id")),
                    List.of(),
                    List.of(),
                    List.of());
        }

        /** The ingredients, then the sections; the notes, oldest first, then the events, newest first. */
        Recipe with(
                List<Ingredient> ingredients,
                List<Step> steps,
                List<Section> sections,
                List<Note> notes,
                List<Reaction> reactions,
                List<Event> events) {
            var parts = new ArrayList<Record>(ingredients);
            parts.addAll(sections);
            var of = reactions.stream().collect(Collectors.groupingBy(Reaction::noteId));
            var timeline = new ArrayList<Record>();
            notes.forEach(note -> timeline.add(note.with(of.getOrDefault(note.id(), List.of()))));
            timeline.addAll(events);
            return new Recipe(
                    id, name, author, source, time, servings, edits, created, modified, archivedAt, tags, owner, parts, steps, timeline);
        }
    }

    record Ingredient(String kind, int id, String position, String quantity, String name, String description) {
        static Ingredient of(ResultSet row) throws SQLException {
            return new Ingredient(
                    "ingredient",
                    row.getInt("id"),
                    row.getString("position"),
                    row.getString("quantity"),
                    row.getString("name"),
                    row.getString("description"));
        }
    }

    record Section(String kind, int id, String position, String title) {
        static Section of(ResultSet row) throws SQLException {
            return new Section("section", row.getInt("id"), row.getString("position"), row.getString("title"));
        }
    }

    record Step(int id, String position, String text) {
        static Step of(ResultSet row) throws SQLException {
            return new Step(row.getInt("id"), row.getString("position"), row.getString("text"));
        }
    }

    record Reaction(
            int id,
            @JsonIgnore int noteId,
            String emoji,
            @JsonProperty("created_by_id") int createdById,
            String created) {
        static Reaction of(ResultSet row) throws SQLException {
            return new Reaction(
                    row.getInt("id"),
                    row.getInt("note_id"),
                    row.getString("emoji"),
                    row.getInt("created_by_id"),
                    moment(row, "created"));
        }
    }

    record Event(
            String kind, int id, String action, @JsonProperty("created_by_id") Integer createdById, String created) {
        static Event of(ResultSet row) throws SQLException {
            return new Event(
                    "event",
                    row.getInt("id"),
                    row.getString("action"),
                    row.getObject("created_by_id", Integer.class),
                    moment(row, "created"));
        }
    }

    record Person(int id, String email, String name) {}

    record Note(
            String kind,
            int id,
            String text,
            String created,
            String modified,
            @JsonProperty("created_by") Person createdBy,
            @JsonProperty("last_modified_by") Person lastModifiedBy,
            List<Reaction> reactions) {
        static Note of(ResultSet row) throws SQLException {
            var editor = row.getObject("editor_id", Integer.class);
            return new Note(
                    "note",
                    row.getInt("id"),
                    row.getString("text"),
                    moment(row, "created"),
                    moment(row, "modified"),
                    new Person(row.getInt("author_id"), row.getString("author_email"), row.getString("author_name")),
                    editor == null ? null : new Person(editor, row.getString("editor_email"), row.getString("editor_name")),
                    List.of());
        }

        Note with(List<Reaction> reactions) {
            return new Note(kind, id, text, created, modified, createdBy, lastModifiedBy, reactions);
        }
    }

    record NoteCreated(int id) {}

    record Dashboard(
            @JsonProperty("user_id") int userId,
            List<RecipeSummary> recipes,
            List<TeamSummary> teams,
            List<NoteSummary> notes,
            List<EventSummary> events) {}

    record RecipeSummary(int id, String name, String modified) {
        static RecipeSummary of(ResultSet row) throws SQLException {
            return new RecipeSummary(row.getInt("id"), row.getString("name"), moment(row, "modified"));
        }
    }

    record TeamSummary(int id, String name, int members) {
        static TeamSummary of(ResultSet row) throws SQLException {
            return new TeamSummary(row.getInt("id"), row.getString("name"), row.getInt("members"));
        }
    }

    record NoteSummary(int id, @JsonProperty("recipe_id") int recipeId, String text, String created) {
        static NoteSummary of(ResultSet row) throws SQLException {
            return new NoteSummary(
                    row.getInt("id"), row.getInt("recipe_id"), row.getString("text"), moment(row, "created"));
        }
    }

    record EventSummary(int id, @JsonProperty("recipe_id") int recipeId, String action, String created) {
        static EventSummary of(ResultSet row) throws SQLException {
            return new EventSummary(
                    row.getInt("id"), row.getInt("recipe_id"), row.getString("action"), moment(row, "created"));
        }
    }

    /** In UTC, cut to the whole second: 2024-06-01T12:00:00Z. */
    static String moment(ResultSet row, String column) throws SQLException {
        var found = row.getObject(column, OffsetDateTime.class);
        return found == null ? null : moment(found);
    }

    static String moment(OffsetDateTime found) {
        return found.toInstant().truncatedTo(ChronoUnit.SECONDS).toString();
    }
}
