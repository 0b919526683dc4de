package recipes;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Arrays;

/** Adds the numbers of the body, then waits. */
final class Work extends Api {
    private static final int DELAY_MOST_MS = 10_000;

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(response, () -> {
            var delayMs = delay(request.getParameter("delay_ms"));
            var sum = Arrays.stream(read(request, int[].class)).asLongStream().sum();
            Thread.sleep(delayMs);
            text(response, "Sum: " + sum);
        });
    }

    static int delay(String text) throws Refusal {
        if (text == null) {
            return 0;
        }
        if (!text.matches("[0-9]{1,5}") || Integer.parseInt(text) > DELAY_MOST_MS) {
            throw Refusal.badRequest();
        }
        return Integer.parseInt(text);
    }
}
