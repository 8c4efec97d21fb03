import { Anchor } from "@mantine/core";
import { EmptyState } from "@/lib/ui/EmptyState";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";

/** A fault of our own code: the page says so and can be tried again. */
export function ErrorPage({ error, reset }: { error: unknown; reset: () => void }) {
  return <ProblemNotice error={error} onRetry={reset} />;
}

export function NotFoundPage() {
  return (
    <EmptyState title="Page not found">
      Check the address. <Anchor href="/">Go to the fleet</Anchor>
    </EmptyState>
  );
}
