import { Center, Loader } from "@mantine/core";
import { Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SignInPage } from "@/features/accounts/SignInPage";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { LiveProvider } from "@/lib/stream/LiveContext";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useSession } from "@/shared/session";
import { Shell } from "./Shell";

/** Pages read the tables of states from the catalogue, so it is loaded before any of them. */
function CatalogueGate({ children }: { children: ReactNode }) {
  const catalogue = useCatalogue();
  if (catalogue.data) return children;
  if (catalogue.error) return <ProblemNotice error={catalogue.error} onRetry={() => void catalogue.refetch()} />;
  return (
    <Center mih="50vh">
      <Loader aria-label="Loading" />
    </Center>
  );
}

/** Everything but the sign-in form needs a session; the stream lives as long as one does. */
export function SessionGate() {
  const session = useSession();
  if (session.isPending) {
    return (
      <Center mih="100vh">
        <Loader aria-label="Loading" />
      </Center>
    );
  }
  if (session.error && session.data === undefined) {
    return (
      <Center mih="100vh" p="md" component="main">
        <ProblemNotice error={session.error} onRetry={() => void session.refetch()} />
      </Center>
    );
  }
  if (!session.data) return <SignInPage />;
  return (
    <LiveProvider>
      <Shell user={session.data.user}>
        <CatalogueGate>
          <Outlet />
        </CatalogueGate>
      </Shell>
    </LiveProvider>
  );
}
