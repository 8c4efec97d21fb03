import { Center, Loader } from "@mantine/core";
import type { ReactNode } from "react";
import { useCatalogue } from "@/lib/api/useCatalogue";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";

/** Pages read the tables of states from the catalogue, so it is loaded before any of them. */
export function CatalogueGate({ children }: { children: ReactNode }) {
  const catalogue = useCatalogue();
  if (catalogue.data) return children;
  if (catalogue.error) return <ProblemNotice error={catalogue.error} onRetry={() => void catalogue.refetch()} />;
  return (
    <Center mih="50vh">
      <Loader aria-label="Loading" />
    </Center>
  );
}
