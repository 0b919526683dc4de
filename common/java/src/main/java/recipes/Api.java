package recipes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DatabindException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** What the servlets share: bodies, and what becomes of an error. */
abstract class Api extends HttpServlet {
    private static final Logger LOG = Logger.getLogger("recipes");
    static final int BODY_MOST = 1 << 20;

    static final ObjectMapper JSON = JsonMapper.builder()
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            .build();

    record Told(String error) {}

    interface Answer {
        void write() throws IOException, SQLException, Refusal, InterruptedException;
    }

    /** Writes an answer, or what becomes of its error: 503 of an outage, 500 of a bug, both with a line in the log. */
    static void answer(HttpServletResponse response, Answer answer) throws IOException {
        try {
            answer.write();
        } catch (Refusal refused) {
            refuse(response, refused);
        } catch (SQLException error) {
            var told = Database.isOutage(error) ? Refusal.unavailable() : Refusal.internal();
            LOG.log(Level.SEVERE, told.getMessage(), error);
            refuse(response, told);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            refuse(response, Refusal.unavailable());
        } catch (RuntimeException error) {
            LOG.log(Level.SEVERE, "a bug", error);
            refuse(response, Refusal.internal());
        }
    }

    private static void refuse(HttpServletResponse response, Refusal refused) throws IOException {
        json(response, refused.status, new Told(refused.getMessage()));
    }

    static void json(HttpServletResponse response, int status, Object body) throws IOException {
        write(response, status, "application/json", JSON.writeValueAsBytes(body));
    }

    static void text(HttpServletResponse response, String text) throws IOException {
        write(response, 200, "text/plain;charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    static void write(HttpServletResponse response, int status, String type, byte[] body) throws IOException {
        response.setStatus(status);
        response.setContentType(type);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    /** Reads a body. What is no JSON is a bad request; JSON of another shape cannot be processed. */
    static <T> T read(HttpServletRequest request, Class<T> kind) throws IOException, Refusal {
        var body = request.getInputStream().readNBytes(BODY_MOST + 1);
        if (body.length > BODY_MOST) {
            throw Refusal.tooLarge();
        }
        try {
            var found = JSON.readValue(body, kind);
            if (found == null) {
                throw Refusal.unprocessable();
            }
            return found;
        } catch (DatabindException error) {
            throw Refusal.unprocessable();
        } catch (JsonProcessingException error) {
            throw Refusal.badRequest();
        }
    }
}
