import { expect, test } from "@playwright/test";
import { WebhooksPage } from "../pages/WebhooksPage";
import { Receiver } from "../support/receiver";

test("a webhook is added, tested, signed, logged and sent again", async ({ page }) => {
  const receiver = await Receiver.start();
  const webhooks = new WebhooksPage(page);
  const name = `e2e ${Date.now()}`;
  try {
    await webhooks.open();
    const secret = await webhooks.add(name, receiver.url);
    expect(secret).toMatch(/^whsec_/);
    await expect(webhooks.row(name)).toBeVisible();
    await webhooks.sendTest(name);
    await expect(webhooks.log.getByRole("row").nth(1)).toContainText("delivered");
    await expect(webhooks.log.getByRole("row").nth(1)).toContainText("HTTP 204");
    const sent = receiver.of("webhook.test"); // the fleet's incidents are sent too
    expect(sent).toHaveLength(1);
    expect(sent[0]?.headers["webhook-signature"]).toMatch(/^v1,/);
    expect(sent[0]?.headers["webhook-id"]).toBeTruthy();

    receiver.status = 500;
    await webhooks.sendTest(name);
    await expect(webhooks.log.getByRole("row").nth(1)).toContainText("HTTP 500");
    await page.reload();
    await expect(page.getByText(secret)).toHaveCount(0);
  } finally {
    await webhooks.remove(name).catch(() => undefined);
    await receiver.stop();
  }
});
