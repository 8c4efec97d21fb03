import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { SignInPage } from "./SignInPage";

it("offers the form alone while there is no single sign-on", async () => {
  serve({ "GET /session/methods": { local: "all", single_sign_on: null } });
  renderPage(<SignInPage />);
  expect(await screen.findByLabelText("User name")).toBeVisible();
  expect(screen.queryByRole("link")).toBeNull();
});

it("leads to the provider and hides passwords that are for emergencies only", async () => {
  serve({ "GET /session/methods": { local: "admins", single_sign_on: "Example ID" } });
  renderPage(<SignInPage />);
  const link = await screen.findByRole("link", { name: "Sign in with Example ID" });
  expect(link).toHaveAttribute("href", `/api/v1/session/oidc?next=${encodeURIComponent("/")}`);
  expect(screen.queryByLabelText("User name")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Sign in as an administrator with a password" }));
  expect(screen.getByLabelText("User name")).toBeVisible();
});
