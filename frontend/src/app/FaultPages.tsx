import { Anchor, Stack, Text, Title } from "@mantine/core";
import { ProblemNotice } from "@/lib/ui/ProblemNotice";
import { useTitle } from "@/lib/ui/useTitle";

/** A fault of our own code: the page says so and can be tried again. */
export function ErrorPage({ error, reset }: { error: unknown; reset: () => void }) {
  return <ProblemNotice error={error} onRetry={reset} />;
}

export function NotFoundPage() {
  useTitle("Page not found");
  return (
    <Stack align="center" gap={6} py="xl" ta="center">
      <Title order={1}>Page not found</Title>
      <Text size="sm">
        Check the address.{" "}
        <Anchor href="/" underline="always">
          Go to the fleet
        </Anchor>
      </Text>
    </Stack>
  );
}
