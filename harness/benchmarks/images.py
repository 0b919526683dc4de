"""How large the images are that a lab's hosts are given, by role; they must have been built.

python3 harness/benchmarks/images.py > results/reference-benchmarks/images.json
"""

import json

from python_on_whales import DockerClient

IMAGES = {
    "db": "tandem/db",
    "pgbouncer": "tandem/pgbouncer",
    "app": "tandem/rust-async",
    "proxy": "tandem/proxy",
    "loadgen": "tandem/loadgen-oha",
    "agent": "tandem/agent",
}


def main() -> None:
    """Prints bytes, uncompressed, as they are copied."""
    docker = DockerClient()
    print(
        json.dumps(
            {"bytes": {role: docker.image.inspect(name).size for role, name in IMAGES.items()}}, indent=1
        )
    )


if __name__ == "__main__":
    main()
