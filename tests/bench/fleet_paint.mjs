// Opens the page Fleet in Chromium a number of times and prints, as JSON, when it was painted and how smoothly it pans.
// Environment: RNICS, RUNS, and what browser.mjs needs.
import { BASE_URL, launch, signedIn } from "./browser.mjs";

const RNICS = Number(process.env.RNICS);
const RUNS = Number(process.env.RUNS);
const FRAMES = 120;

const browser = await launch();

async function open() {
  const { context, page } = await signedIn(browser);
  await page.addInitScript((rnics) => {
    // The page marks its holder with the number of RNICs once the first frame stands.
    const look = () => {
      const holder = [...document.querySelectorAll("[data-painted]")].find((one) => Number(one.getAttribute("data-painted")) >= rnics);
      if (holder && window.paintedAt === undefined) window.paintedAt = performance.now();
      if (window.paintedAt === undefined) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, RNICS);
  await page.goto(BASE_URL, { waitUntil: "commit" });
  await page.waitForFunction(() => window.paintedAt !== undefined, undefined, { timeout: 60_000 });
  const painted = await page.evaluate(() => ({
    fleet_ms: window.paintedAt,
    first_contentful_ms: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
    fleet_request_ms: performance.getEntriesByType("resource").find((one) => one.name.endsWith("/api/v1/fleet"))?.duration ?? null,
  }));
  return { context, page, painted };
}

async function pan(page) {
  const box = await page.locator("canvas").first().boundingBox();
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.wheel(0, -400);
  await page.evaluate((count) => {
    window.frames_ms = [];
    let last = performance.now();
    const next = (now) => {
      window.frames_ms.push(now - last);
      last = now;
      if (window.frames_ms.length < count) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }, FRAMES);
  await page.mouse.down();
  for (let step = 0; step < FRAMES; step += 1) await page.mouse.move(middle.x - step * 2, middle.y - step);
  await page.mouse.up();
  await page.waitForFunction((count) => window.frames_ms.length >= count, FRAMES, { timeout: 60_000 });
  return page.evaluate(() => window.frames_ms);
}

const runs = [];
let frames = [];
for (let run = 0; run < RUNS; run += 1) {
  const { context, page, painted } = await open();
  runs.push(painted);
  if (run === RUNS - 1) frames = await pan(page);
  await context.close();
}
await browser.close();
process.stdout.write(`${JSON.stringify({ runs, frames_ms: frames })}\n`);
