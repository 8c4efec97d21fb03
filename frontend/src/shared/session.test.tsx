import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import * as leave from "@/lib/leave";
import { renderPage } from "@/testing/render";
import { problem, serve } from "@/testing/server";
import { useSignOut } from "./session";

afterEach(() => {
  vi.restoreAllMocks();
});

function SignOut() {
  const signOut = useSignOut();
  return (
    <button type="button" onClick={() => signOut.mutate()}>
      {signOut.status}
    </button>
  );
}

async function signOutWith(provider: string | null, answer: unknown = null) {
  const leaveTo = vi.spyOn(leave, "leaveTo").mockImplementation(() => undefined);
  serve({ "GET /session/methods": { local: "all", single_sign_on: provider }, "DELETE /session": answer });
  renderPage(<SignOut />);
  fireEvent.click(screen.getByRole("button"));
  await waitFor(() => expect(screen.getByRole("button")).toHaveTextContent(/success|error/));
  return leaveTo;
}

it("goes on to the provider's sign-out once the session here has ended", async () => {
  expect(await signOutWith("Example ID")).toHaveBeenCalledExactlyOnceWith("/api/v1/session/oidc/sign-out");
});

it("stays here without a provider", async () => {
  expect(await signOutWith(null)).not.toHaveBeenCalled();
});

it("stays here if the session could not be ended", async () => {
  const broken = problem(503, "database_unavailable", "The database does not answer");
  expect(await signOutWith("Example ID", broken)).not.toHaveBeenCalled();
});
