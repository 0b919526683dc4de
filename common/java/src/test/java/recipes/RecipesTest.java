package recipes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RecipesTest {
    @Test
    void aSettingThatMakesNoSenseIsNamed() {
        var bad = Map.of(
                "PORT", "0", "THREADS", "many", "DB_POOL_MAX", "-1", "DB_PREPARE", "maybe", "DB_TIME_ZONE", "UTC", "LOG_LEVEL", "loud");
        bad.forEach((name, value) -> {
            var error = assertThrows(
                    IllegalArgumentException.class, () -> Settings.read(asked -> asked.equals(name) ? value : ""));
            assertTrue(error.getMessage().startsWith(name), error.getMessage());
        });
        var settings = Settings.read(asked -> "");
        assertEquals(8080, settings.port());
        assertEquals(20, settings.poolMax());
        assertTrue(settings.prepare());
    }

    @Test
    void timesAreCutToWholeSeconds() {
        assertEquals("2024-06-01T12:00:00Z", Models.moment(OffsetDateTime.parse("2024-06-01T14:00:00.999999+02:00")));
    }

    @Test
    void aNoteHas1To10000Characters() {
        for (var text : new String[] {"a", "\u0001", "🍲".repeat(10_000)}) {
            assertTrue(Recipes.isNote(text));
        }
        for (var text : new String[] {"", "a\0", "\ud800", "a".repeat(10_001)}) {
            assertFalse(Recipes.isNote(text));
        }
    }

    @Test
    void anIdIsANumberFrom1() throws Refusal {
        assertEquals(7, Recipes.id("7"));
        for (var text : new String[] {"0", "-1", "x", "", "2147483648"}) {
            assertEquals(400, assertThrows(Refusal.class, () -> Recipes.id(text)).status);
        }
    }

    @Test
    void aDelayIsAtMostTenSeconds() throws Refusal {
        assertEquals(10_000, Work.delay("10000"));
        assertEquals(0, Work.delay(null));
        for (var text : new String[] {"10001", "-1", "", "1.5"}) {
            assertThrows(Refusal.class, () -> Work.delay(text));
        }
    }

    @Test
    void numbersAreWholeAndNotNull() {
        for (var text : new String[] {"[1.5]", "[null]", "[\"1\"]", "[2147483648]", "{}", "[1] 2", "[1,"}) {
            assertThrows(JsonProcessingException.class, () -> Api.JSON.readValue(text, int[].class), text);
        }
    }

    @Test
    void aBodyEscapesNoMoreThanNeeded() throws JsonProcessingException {
        var section = new Models.Section("section", 7, "d5", "crème \"½\" <A&B> 🍲 a\\b/c\n");
        assertEquals(
                "{\"kind\":\"section\",\"id\":7,\"position\":\"d5\",\"title\":\"crème \\\"½\\\" <A&B> 🍲 a\\\\b/c\\n\"}",
                new String(Api.JSON.writeValueAsBytes(section), StandardCharsets.UTF_8));
    }

    @Test
    void aMistakeInAStatementIsNoOutage() {
        assertTrue(Database.isOutage(new SQLException("no connection")));
        assertTrue(Database.isOutage(new SQLException("cancelled", "57014")));
        assertFalse(Database.isOutage(new SQLException("no such column", "42703")));
    }
}
