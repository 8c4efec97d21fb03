import { Anchor } from "@mantine/core";
import { EmptyState } from "@/lib/ui/EmptyState";

export function NotFoundPage() {
  return (
    <EmptyState title="There is no such page">
      The address may be mistyped. <Anchor href="/">Go to the fleet wall</Anchor>
    </EmptyState>
  );
}
