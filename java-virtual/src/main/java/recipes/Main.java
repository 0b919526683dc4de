package recipes;

import org.apache.catalina.LifecycleException;

/** The application on a virtual thread for each request. Configured by the environment alone. */
final class Main {
    public static void main(String[] arguments) throws java.io.IOException, LifecycleException {
        Settings settings;
        try {
            settings = Settings.read(System::getenv);
        } catch (IllegalArgumentException error) {
            System.err.println(error.getMessage());
            System.exit(2);
            return;
        }
        Server.run(settings, connector -> connector.setProperty("useVirtualThreads", "true"));
    }
}
