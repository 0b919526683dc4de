package recipes;

import jakarta.servlet.Servlet;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardWrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.valves.AbstractAccessLogValve;

/** Tomcat with the servlets of the contract. */
public final class Server {
    private static final Path PAGE = Path.of("/app/contract/golden/index.html");
    private static final int STOP_MS = 10_000;
    private static final int QUIET_MS = 500;
    private static final int LOOK_MS = 50;

    private Server() {}

    /** Serves until SIGTERM. executor: says which threads run the servlets. */
    public static void run(Settings settings, Consumer<Connector> executor) throws IOException, LifecycleException {
        Logger.getLogger("").setLevel(settings.logLevel());
        var tomcat = new Tomcat();
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        tomcat.setConnector(connector(settings, executor));
        var database = new Database(settings);
        route(tomcat.addContext("", null), database);
        if (settings.accessLog()) {
            tomcat.getEngine().getPipeline().addValve(accessLog());
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(tomcat, database)));
        tomcat.start();
        tomcat.getServer().await();
    }

    private static Connector connector(Settings settings, Consumer<Connector> executor) {
        var connector = new Connector();
        connector.setPort(settings.port());
        connector.setProperty("connectionTimeout", "20000");
        connector.setProperty("keepAliveTimeout", "75000");
        connector.setProperty("maxKeepAliveRequests", "-1");
        connector.setProperty("acceptCount", "1024");
        executor.accept(connector);
        return connector;
    }

    private static void route(Context context, Database database) throws IOException {
        add(context, new Page(Files.readAllBytes(PAGE), "text/html;charset=utf-8"), "", "/index.html", "/index.htm");
        var healthy = "{\"status\":\"ok\"}".getBytes(StandardCharsets.UTF_8);
        add(context, new Page(healthy, "application/json"), "/healthz");
        add(context, new Work(), "/work");
        add(context, new Users(), "/user", "/user/*", "/users", "/users/");
        add(context, new Recipes(database), "/api/v1/dashboard", "/api/v1/recipes", "/api/v1/recipes/*");
    }

    private static void add(Context context, Servlet servlet, String... paths) {
        var name = servlet.getClass().getSimpleName() + " " + paths[paths.length - 1];
        Tomcat.addServlet(context, name, servlet);
        for (var path : paths) {
            context.addServletMapping(path, name);
        }
    }

    private static AbstractAccessLogValve accessLog() {
        var valve = new AbstractAccessLogValve() {
            @Override
            protected void log(java.io.CharArrayWriter line) {
                System.out.println(line);
            }
        };
        valve.setPattern("common");
        return valve;
    }

    /** Accepts nobody any more, lets requests that are under way end, and ends with status 0, where the JVM's own would be 143. */
    private static void stop(Tomcat tomcat, Database database) {
        var connector = tomcat.getConnector();
        connector.pause();
        connector.getProtocolHandler().closeServerSocketGraceful();
        try {
            for (var waited = 0; waited < STOP_MS && (waited < QUIET_MS || isServing(tomcat)); waited += LOOK_MS) {
                Thread.sleep(LOOK_MS);
            }
            tomcat.stop();
        } catch (LifecycleException | InterruptedException error) {
            Logger.getLogger("recipes").log(Level.SEVERE, "the server did not stop", error);
        }
        database.close();
        Runtime.getRuntime().halt(0);
    }

    private static boolean isServing(Tomcat tomcat) {
        for (var context : tomcat.getHost().findChildren()) {
            for (var servlet : context.findChildren()) {
                if (((StandardWrapper) servlet).getCountAllocated() > 0) {
                    return true;
                }
            }
        }
        return false;
    }
}
