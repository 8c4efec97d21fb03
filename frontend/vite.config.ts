import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { compressed } from "./scripts/compressed.mjs";
import { firstFiles } from "./scripts/mantineStyles.mjs";

/** In development the API is another process; WALLWATCH_API_URL says where it listens. */
const api = process.env["WALLWATCH_API_URL"] ?? "http://127.0.0.1:8000";

/** React, router, queries: what stands around every page, cached apart from our own code. And tslib: without it here, the file of the charts would hold it, and every page would load the charts. */
const BASE =
  /node_modules[\\/](react|react-dom|scheduler|tslib|openapi-fetch|@tanstack[\\/](react-router|router-core|history|store|react-store|react-query|query-core))[\\/]/;

/** Kinds of charts that few pages have (src/charts/kinds) come with those pages. */
const ECHARTS =
  /node_modules[\\/](zrender|echarts)[\\/](?!lib[\\/](component[\\/](dataZoom|visualMap)|chart[\\/](bar|heatmap|scatter)|visual[\\/]visual))/;

/** Mantine's parts that nearly every page has in some field or menu. */
const CONTROLS =
  /@mantine[\\/]core[\\/]esm[\\/]components[\\/](Popover|Input|InputBase|TextInput|FocusTrap|ScrollArea|VisuallyHidden)[\\/]/;
const SMALL = /src[\\/](lib|shared)[\\/]|@tabler[\\/]icons-react/;
const first = new Set(firstFiles());

/** The licence of Inter asks to be where the font is. */
function fontLicence(): Plugin {
  const source = new URL("./src/lib/ui/inter/LICENSE.txt", import.meta.url);
  return {
    name: "font-licence",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "assets/inter-licence.txt", source: readFileSync(source, "utf8") });
    },
  };
}

export default defineConfig({
  plugins: [react(), fontLicence(), compressed()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { proxy: { "/api": { target: api, changeOrigin: false } } },
  build: {
    sourcemap: false,
    modulePreload: { polyfill: false }, // every browser that runs the rest has it
    manifest: true, // which files each page loads: scripts/weight.mjs adds them up
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        // Short, since every page's list of files is in the first file.
        chunkFileNames: ({ name }) => `assets/${/^\w+/.exec(name)?.[0] ?? "chunk"}-[hash].js`,
        assetFileNames: "assets/[name]-[hash][extname]",
        // The rest is split by what pages have in common. Merging such files would make circles, in which code runs before what it needs.
        codeSplitting: {
          groups: [
            { name: "base", test: BASE, priority: 5 },
            // Small files cost more in headers than they save, so what is fetched together is one file: what the first file imports, the
            // controls, and what many pages share, apart from what the fleet needs of it.
            { name: "shell", tags: ["$initial"], priority: 4 },
            { name: "echarts", test: ECHARTS, priority: 3 },
            { name: "controls", test: CONTROLS, minShareCount: 8, priority: 2 },
            {
              name: "lib",
              test: (id) => SMALL.test(id) && (first.has(id) || id.includes("@tabler")),
              minShareCount: 6,
              priority: 1,
            },
            { name: "parts", test: (id) => SMALL.test(id) && !first.has(id), minShareCount: 8, maxModuleSize: 4000 },
          ],
        },
      },
    },
  },
  test: {
    css: false,
    // Files share a worker's modules and its DOM, which each leaves as it was (src/testing/setup.ts): four times as fast.
    isolate: false,
    testTimeout: 30_000, // the machine does other work at the same time
    // Pure code is tested without a DOM: jsdom takes longer to start than most of these files to run.
    projects: [
      {
        extends: true,
        test: {
          name: "node",
          environment: "node",
          include: ["src/**/*.test.ts", "mock/*.test.mjs", "scripts/*.test.mjs"],
        },
      },
      {
        extends: true,
        test: {
          name: "dom",
          environment: "jsdom",
          include: ["src/**/*.test.tsx"],
          setupFiles: ["./src/testing/setup.ts"],
        },
      },
    ],
  },
});
