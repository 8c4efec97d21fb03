import { Skeleton } from "@mantine/core";

/** In place of a page whose code is on its way. */
export function LoadingPage() {
  return <Skeleton height={400} role="status" aria-label="Loading" />;
}
