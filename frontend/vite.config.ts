import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** In development the API is another process; WALLWATCH_API_URL says where it listens. */
const api = process.env["WALLWATCH_API_URL"] ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { proxy: { "/api": { target: api, changeOrigin: false } } },
  build: {
    sourcemap: false,
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        // The wall must paint before anything else is fetched, so that charts and the UI kit are cached apart from our own code.
        codeSplitting: {
          groups: [
            { name: "echarts", test: /node_modules[\\/](echarts|zrender)[\\/]/ },
            { name: "vendor", test: /node_modules[\\/]/ },
          ],
        },
      },
    },
  },
  test: {
    environment: "jsdom",
    setupFiles: ["./src/testing/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
    css: false,
    // Rendering Mantine under jsdom is slow on a machine that does other work at the same time.
    testTimeout: 30_000,
  },
});
