import { expect, test } from "@playwright/test";
import { CapturesPage } from "../pages/CapturesPage";
import { Shell } from "../pages/Shell";
import { expectAccessible } from "../support/axe";
import { selectiveResend } from "../support/roce";

test("a capture is uploaded, analysed, shown by frame numbers, and deleted", async ({ page }) => {
  test.setTimeout(300_000);
  const captures = new CapturesPage(page);
  await page.goto("/");
  await new Shell(page).goTo("Captures");
  await captures.upload("selective.pcap", selectiveResend());

  await expect(captures.violations).toHaveCount(1);
  await expect(captures.violations).toContainText("not_go_back_n");
  await expect(captures.violations.getByRole("cell").first()).toHaveText("8");
  await expect(captures.retransmissions).toHaveCount(1);
  await expect(captures.retransmissions).toContainText("102");
  await expect(captures.summary).toContainText("unknown: every packet is cut short");
  await captures.chartIsPainted();
  await expectAccessible(page);

  await page.getByRole("combobox", { name: "Compare with the published figures of" }).click();
  await page.getByRole("option", { name: "ConnectX-5" }).click();
  await expect(page.getByRole("table", { name: "Retransmission latency" })).toContainText("published 2 µs");
  await expect(page).toHaveURL(/model=cx5/);

  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("heading", { name: "Captures", level: 1 })).toBeVisible();
  await expect(page.getByRole("link", { name: "selective.pcap" })).toHaveCount(0);
});
