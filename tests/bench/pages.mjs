// Opens one page in Chromium a number of times, each with an empty cache, and prints what that cost, as JSON.
// Environment: PAGE (path), RUNS, and what browser.mjs needs.
import { BASE_URL, launch, signedIn } from "./browser.mjs";

const { PAGE } = process.env;
const RUNS = Number(process.env.RUNS);
/** For so long nothing may arrive before the page counts as loaded; its stream of events stays open. */
const QUIET_MS = 1500;
const TASKS = "TaskDuration";

const browser = await launch();

async function open() {
  const { context, page } = await signedIn(browser);
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Performance.enable");
  let bytes = 0;
  let requests = 0;
  let last = Date.now();
  devtools.on("Network.requestWillBeSent", () => {
    requests += 1;
  });
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    last = Date.now();
  });
  await page.addInitScript(() => {
    window.seen = { lcp: 0, cls: 0, inp: 0 };
    const watch = (type, take, rest = {}) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...rest });
    watch("largest-contentful-paint", (entry) => (window.seen.lcp = entry.startTime));
    watch("layout-shift", (entry) => (window.seen.cls += entry.hadRecentInput ? 0 : entry.value));
    watch("event", (entry) => (window.seen.inp = Math.max(window.seen.inp, entry.duration)), { durationThreshold: 16 });
  });
  await page.goto(BASE_URL + PAGE, { waitUntil: "commit" });
  await page.getByRole("heading", { level: 1 }).waitFor({ timeout: 60_000 });
  while (Date.now() - last < QUIET_MS) await page.waitForTimeout(100);
  const { metrics } = await devtools.send("Performance.getMetrics");
  const loaded = { bytes, requests };
  // Interactions: keys and a click on the page's own frame, as everyone makes them.
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: /^Account of/ }).click();
  await page.getByRole("menu").waitFor();
  await page.keyboard.press("Escape");
  await page.waitForTimeout(300);
  const { lcp, cls, inp } = await page.evaluate(() => window.seen);
  await context.close();
  return {
    transferred_kb: loaded.bytes / 1000,
    requests: loaded.requests,
    load_cpu_ms: metrics.find(({ name }) => name === TASKS).value * 1000,
    lcp_ms: lcp,
    inp_ms: inp,
    cls,
  };
}

const runs = [];
for (let run = 0; run < RUNS; run += 1) runs.push(await open());
await browser.close();
process.stdout.write(`${JSON.stringify(runs)}\n`);
