# One image for the three services of compose.yaml: the code location, the daemon and the web server.
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    DAGSTER_HOME=/app \
    MEMORY_PIPELINE_HOME=/app

# /app is laid out like the checkout, so its dagster.yaml is Dagster's instance here too; all data lies in /app/data.
RUN useradd --uid 1000 --create-home memory \
    && install --directory --owner=memory --group=memory /app /app/data
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY memory_pipeline ./memory_pipeline
RUN pip install --no-cache-dir . && memory-pipeline model install && rm -rf /src/*
WORKDIR /app
COPY dagster.yaml docker/workspace.yaml ./

USER memory
VOLUME /app/data
EXPOSE 3000
CMD ["dagster-webserver", "--host", "0.0.0.0", "--port", "3000", "--workspace", "workspace.yaml"]
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:3000/server_info', timeout=5)"]
