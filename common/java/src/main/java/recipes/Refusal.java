package recipes;

/** Ends a request early, with a status and what the client is told. */
final class Refusal extends Exception {
    final int status;

    private Refusal(int status, String text) {
        super(text, null, false, false);
        this.status = status;
    }

    static Refusal badRequest() {
        return new Refusal(400, "bad request");
    }

    static Refusal unauthorized() {
        return new Refusal(401, "unauthorized");
    }

    static Refusal notFound() {
        return new Refusal(404, "not found");
    }

    static Refusal tooLarge() {
        return new Refusal(413, "content too large");
    }

    static Refusal unprocessable() {
        return new Refusal(422, "unprocessable content");
    }

    static Refusal unavailable() {
        return new Refusal(503, "database unavailable");
    }

    static Refusal internal() {
        return new Refusal(500, "internal server error");
    }
}
