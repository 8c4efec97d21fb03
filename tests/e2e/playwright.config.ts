import { defineConfig } from "@playwright/test";
import { baseUrl, SIGNED_IN } from "./support/environment";

/** One worker and files in order: the specs share one stack, and the remedy of one is the audit entry of another. */
export default defineConfig({
  testDir: "./specs",
  outputDir: "./test-results",
  workers: 1,
  fullyParallel: false,
  forbidOnly: Boolean(process.env["CI"]),
  // In CI, a test that fails beside other work is tried once more; the summary calls it flaky and names it.
  retries: process.env["CI"] ? 1 : 0,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [["list"]],
  use: {
    baseURL: baseUrl(),
    viewport: { width: 1440, height: 900 },
    colorScheme: "dark",
    // A film of the page costs a software renderer more than the test itself; snapshots of the DOM show as much.
    trace: { mode: "retain-on-failure", screenshots: false },
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env["E2E_CHROMIUM"] ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
  projects: [
    { name: "sign-in", testMatch: /sign-in\.setup\.ts/ },
    { name: "chromium", testMatch: /\.spec\.ts/, dependencies: ["sign-in"], use: { storageState: SIGNED_IN } },
  ],
});
