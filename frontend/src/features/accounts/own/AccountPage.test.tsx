import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { problem, serve } from "@/testing/server";
import { AccountPage } from "./AccountPage";

const METHODS = { local: "all", single_sign_on: "Example ID" };
const account = {
  username: "dana",
  role: "operator",
  single_sign_on: false,
  created_at: "2026-01-01T00:00:00Z",
  second_factor_since: null,
  recovery_codes_left: 0,
};
const session = (id: string, address: string, current: boolean) => ({
  id,
  created_at: "2026-01-01T00:00:00Z",
  last_used_at: "2026-01-01T01:00:00Z",
  expires_at: "2026-01-01T12:00:00Z",
  address,
  current,
});
const TWO = { items: [session("a", "192.0.2.1", true), session("b", "192.0.2.2", false)] };

function show(answers: Record<string, unknown> = {}) {
  const asked = serve({
    "GET /session/methods": METHODS,
    "GET /session/account": account,
    "GET /session/sessions": TWO,
    ...answers,
  });
  renderPage(<AccountPage />);
  return asked;
}

it("marks this session and ends another one after asking", async () => {
  const asked = show({ "DELETE /session/sessions/b": null });
  const rows = within(await screen.findByRole("table", { name: "Your sessions" })).getAllByRole("row");
  expect(rows[1]).toHaveTextContent("this session");
  fireEvent.click(within(rows[2] as HTMLElement).getByRole("button", { name: "End" }));
  fireEvent.click(await screen.findByRole("button", { name: "End session" }));
  await waitFor(() => expect(asked.map((one) => `${one.method} ${one.path}`)).toContain("DELETE /session/sessions/b"));
});

it("offers to end the others only if there are others", async () => {
  show({ "GET /session/sessions": { items: TWO.items.slice(0, 1) } });
  await screen.findByText("this session");
  expect(screen.queryByRole("button", { name: "End all others" })).toBeNull();
});

it("leads who signs in at the provider there", async () => {
  show({ "GET /session/account": { ...account, single_sign_on: true } });
  expect(await screen.findByText(/Example ID. Change your password/)).toBeVisible();
  expect(screen.queryByRole("button", { name: "Change password" })).toBeNull();
  expect(screen.queryByRole("button", { name: "Turn on" })).toBeNull();
});

it("changes the password once both new ones are the same", async () => {
  const asked = show({ "POST /session/password": null });
  fireEvent.click(await screen.findByRole("button", { name: "Change password" }));
  const dialog = within(await screen.findByRole("dialog"));
  fireEvent.change(dialog.getByLabelText("Current password"), { target: { value: "the old password" } });
  fireEvent.change(dialog.getByLabelText("New password"), { target: { value: "the new password" } });
  fireEvent.change(dialog.getByLabelText("New password again"), { target: { value: "another password" } });
  fireEvent.click(dialog.getByRole("button", { name: "Change password" }));
  expect(await dialog.findByText("Enter the same password again")).toBeVisible();
  fireEvent.change(dialog.getByLabelText("New password again"), { target: { value: "the new password" } });
  fireEvent.click(dialog.getByRole("button", { name: "Change password" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(asked.find((one) => one.path === "/session/password")?.body).toEqual({
    current_password: "the old password",
    new_password: "the new password",
  });
});

it("says what is wrong with the current password and keeps the dialog", async () => {
  show({ "POST /session/password": problem(403, "wrong_password", "The current password is wrong") });
  fireEvent.click(await screen.findByRole("button", { name: "Change password" }));
  const dialog = within(await screen.findByRole("dialog"));
  fireEvent.change(dialog.getByLabelText("Current password"), { target: { value: "a guess" } });
  for (const label of ["New password", "New password again"])
    fireEvent.change(dialog.getByLabelText(label), { target: { value: "the new password" } });
  fireEvent.click(dialog.getByRole("button", { name: "Change password" }));
  expect(await dialog.findByRole("alert")).toHaveTextContent("The current password is wrong");
});

it("turns the second factor on: password, secret, first code, recovery codes", async () => {
  const asked = show({
    "POST /session/second-factor": { secret: "ABCDEFGH", uri: "otpauth://totp/Wallwatch:dana?secret=ABCDEFGH" },
    "POST /session/second-factor/confirm": { recovery_codes: ["aaaa-bbbb-cccc-dddd"] },
  });
  fireEvent.click(await screen.findByRole("button", { name: "Turn on" }));
  const dialog = within(await screen.findByRole("dialog"));
  fireEvent.change(dialog.getByLabelText("Current password"), { target: { value: "the old password" } });
  fireEvent.click(dialog.getByRole("button", { name: "Continue" }));
  expect(await dialog.findByText("ABCD EFGH")).toBeVisible();
  expect(dialog.getByRole("img", { name: /^QR code of the secret/ })).toBeVisible();
  expect(dialog.getByRole("link")).toHaveAttribute("href", "otpauth://totp/Wallwatch:dana?secret=ABCDEFGH");
  fireEvent.change(dialog.getByLabelText("Code"), { target: { value: "123456" } });
  fireEvent.click(dialog.getByRole("button", { name: "Turn on" }));
  expect(await dialog.findByText("aaaa-bbbb-cccc-dddd")).toBeVisible();
  expect(asked.find((one) => one.path.endsWith("/confirm"))?.body).toEqual({ code: "123456" });
});

it("says in each panel when the server does not answer", async () => {
  const broken = () => problem(503, "database_unavailable", "The database does not answer");
  show({ "GET /session/account": broken(), "GET /session/sessions": broken() });
  await waitFor(() => expect(screen.getAllByRole("button", { name: "Try again" })).toHaveLength(2));
});
