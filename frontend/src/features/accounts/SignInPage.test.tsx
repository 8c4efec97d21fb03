import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { problem, serve, signedIn } from "@/testing/server";
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

it("shows no form before it knows who may use it", async () => {
  let answer: (methods: unknown) => void = () => undefined;
  const methods = new Promise((resolve) => (answer = resolve));
  serve({ "GET /session/methods": () => methods });
  renderPage(<SignInPage />);
  expect(screen.getByRole("status", { name: "Loading" })).toBeVisible();
  expect(screen.queryByLabelText("User name")).toBeNull();
  answer({ local: "admins", single_sign_on: "Example ID" });
  expect(await screen.findByRole("link", { name: "Sign in with Example ID" })).toBeVisible();
  expect(screen.queryByLabelText("User name")).toBeNull();
});

it("asks for the code of accounts that have a second factor, and only of those", async () => {
  const asked = serve({
    "GET /session/methods": { local: "all", single_sign_on: null },
    "POST /session": ({ body }: { body: unknown }) => {
      const { code } = body as { code?: string };
      if (code === undefined) return problem(401, "second_factor_required", "Enter the code of your authenticator app");
      return code === "123456" ? signedIn("viewer") : problem(401, "wrong_code", "The code is wrong");
    },
  });
  renderPage(<SignInPage />);
  fireEvent.change(await screen.findByLabelText("User name"), { target: { value: "dana" } });
  fireEvent.change(screen.getByLabelText("Password"), { target: { value: "a long password" } });
  fireEvent.click(screen.getByRole("button", { name: "Sign in" }));
  fireEvent.change(await screen.findByLabelText("Code"), { target: { value: "000000" } });
  expect(screen.queryByRole("alert")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Sign in" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("The code is wrong");
  expect(screen.getByLabelText("Code")).toHaveValue("");
  fireEvent.change(screen.getByLabelText("Code"), { target: { value: " 123456 " } });
  fireEvent.click(screen.getByRole("button", { name: "Sign in" }));
  await waitFor(() =>
    expect(asked.at(-1)?.body).toEqual({ username: "dana", password: "a long password", code: "123456" }),
  );
});
