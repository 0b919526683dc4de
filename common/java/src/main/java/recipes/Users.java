package recipes;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/** A table in the memory of this process. Ids count up from 0. */
final class Users extends Api {
    private static final String DATA = "{}";
    private final transient ConcurrentSkipListMap<Long, String> kept = new ConcurrentSkipListMap<>();
    private final AtomicLong next = new AtomicLong();

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
        var all = request.getServletPath().startsWith("/users");
        var methods = all ? Set.of("GET", "HEAD") : id(request).isEmpty() ? Set.of("POST") : Set.of("GET", "HEAD", "PUT", "DELETE");
        if (methods.contains(request.getMethod())) {
            super.service(request, response);
        } else {
            response.sendError(HttpServletResponse.SC_METHOD_NOT_ALLOWED);
        }
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        var id = next.getAndIncrement();
        kept.put(id, DATA);
        text(response, String.valueOf(id));
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getServletPath().startsWith("/users")) {
            text(response, kept.keySet().stream().map(String::valueOf).collect(Collectors.joining(",")));
            return;
        }
        answer(response, () -> text(response, there(kept.get(number(request)))));
    }

    @Override
    protected void doPut(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(response, () -> {
            there(kept.replace(number(request), DATA));
            text(response, "");
        });
    }

    @Override
    protected void doDelete(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(response, () -> {
            there(kept.remove(number(request)));
            text(response, "");
        });
    }

    private static String there(String found) throws Refusal {
        if (found == null) {
            throw Refusal.notFound();
        }
        return found;
    }

    private static String id(HttpServletRequest request) {
        var path = request.getPathInfo();
        return path == null ? "" : path.replaceAll("/", "");
    }

    private static long number(HttpServletRequest request) throws Refusal {
        try {
            return Long.parseLong(id(request));
        } catch (NumberFormatException error) {
            throw Refusal.notFound();
        }
    }
}
