package recipes;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** A fixed body from memory; 404 for every other path that nobody serves. */
final class Page extends Api {
    private final byte[] body;
    private final String type;

    Page(byte[] body, String type) {
        this.body = body;
        this.type = type;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        write(response, 200, type, body);
    }
}
