import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { leaveTo } from "@/lib/leave";
import { renderPage } from "@/testing/render";
import { problem, serve } from "@/testing/server";
import { useSignOut } from "./session";

vi.mock("@/lib/leave", () => ({ leaveTo: vi.fn() }));

function SignOut() {
  const signOut = useSignOut();
  return (
    <button type="button" onClick={() => signOut.mutate()}>
      {signOut.status}
    </button>
  );
}

async function signOutWith(provider: string | null, answer: unknown = null) {
  vi.mocked(leaveTo).mockClear();
  serve({ "GET /session/methods": { local: "all", single_sign_on: provider }, "DELETE /session": answer });
  renderPage(<SignOut />);
  fireEvent.click(screen.getByRole("button"));
  await waitFor(() => expect(screen.getByRole("button")).toHaveTextContent(/success|error/));
}

it("goes on to the provider's sign-out once the session here has ended", async () => {
  await signOutWith("Example ID");
  expect(leaveTo).toHaveBeenCalledExactlyOnceWith("/api/v1/session/oidc/sign-out");
});

it("stays here without a provider", async () => {
  await signOutWith(null);
  expect(leaveTo).not.toHaveBeenCalled();
});

it("stays here if the session could not be ended", async () => {
  await signOutWith("Example ID", problem(503, "database_unavailable", "The database does not answer"));
  expect(leaveTo).not.toHaveBeenCalled();
});
