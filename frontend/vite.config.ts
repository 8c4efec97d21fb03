import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** In development the API is another process; WALLWATCH_API_URL says where it listens. */
const api = process.env["WALLWATCH_API_URL"] ?? "http://127.0.0.1:8000";

/** The licence of Inter asks to be where the font is. */
function fontLicence(): Plugin {
  const source = new URL("./node_modules/@fontsource-variable/inter/LICENSE", import.meta.url);
  return {
    name: "font-licence",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "assets/inter-licence.txt", source: readFileSync(source, "utf8") });
    },
  };
}

export default defineConfig({
  plugins: [react(), fontLicence()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { proxy: { "/api": { target: api, changeOrigin: false } } },
  build: {
    sourcemap: false,
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        // The page Fleet must paint before anything else is fetched, so that charts and the UI kit are cached apart from our own code.
        codeSplitting: {
          groups: [
            // First, so that tslib, which both use, lands here: in the charts' file it would make every page load the charts.
            { name: "vendor", test: /node_modules[\\/](?!echarts|zrender)/ },
            { name: "echarts", test: /node_modules[\\/](echarts|zrender)[\\/]/ },
          ],
        },
      },
    },
  },
  test: {
    css: false,
    // Files share a worker's modules and its DOM, which each leaves as it was (src/testing/setup.ts): four times as fast.
    isolate: false,
    // Pure code is tested without a DOM: jsdom takes longer to start than most of these files to run.
    projects: [
      {
        extends: true,
        test: { name: "node", environment: "node", include: ["src/**/*.test.ts", "mock/*.test.mjs"] },
      },
      {
        extends: true,
        test: {
          name: "dom",
          environment: "jsdom",
          include: ["src/**/*.test.tsx"],
          setupFiles: ["./src/testing/setup.ts"],
          // Rendering Mantine under jsdom is slow on a machine that does other work at the same time.
          testTimeout: 30_000,
        },
      },
    ],
  },
});
