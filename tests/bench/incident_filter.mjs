// Filters the incident list in Chromium a number of times, each time by the other severity, and prints how long each change took, as JSON:
// from the click on the choice to the frame that shows its rows and no others, and what the page's main thread worked for it (CPU time).
// Environment: RUNS, and what browser.mjs needs.
import { BASE_URL, launch, signedIn } from "./browser.mjs";

const RUNS = Number(process.env.RUNS);
const CHOICES = ["critical", "warning"];

const browser = await launch();
const { page } = await signedIn(browser);
const devtools = await page.context().newCDPSession(page);
await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
const cpuMs = async () =>
  (await devtools.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;
await page.goto(`${BASE_URL}/incidents`);
await page.locator("tr[data-incident]").first().waitFor({ timeout: 60_000 });
const changes = [];
for (let run = 0; run < RUNS; run += 1) {
  const choice = CHOICES[run % CHOICES.length];
  await page.getByRole("combobox", { name: "Severity" }).click();
  const option = page.getByRole("option", { name: new RegExp(`^${choice}`) });
  await option.waitFor();
  const filtered = page.evaluate(
    (word) =>
      new Promise((done) => {
        let from = null;
        addEventListener("click", () => (from = performance.now()), { capture: true, once: true });
        const look = () => {
          const cells = [...document.querySelectorAll("tr[data-incident] > td:nth-child(3)")];
          if (from !== null && cells.length > 0 && cells.every((cell) => cell.textContent.includes(word)))
            requestAnimationFrame(() => done(performance.now() - from));
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }),
    choice,
  );
  const before = await cpuMs();
  await option.click();
  changes.push({ ms: await filtered, cpu_ms: (await cpuMs()) - before });
  // What the list asks for besides its rows must not become part of the next change.
  await page.waitForTimeout(1000);
}
await browser.close();
process.stdout.write(`${JSON.stringify(changes)}\n`);
