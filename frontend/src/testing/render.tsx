import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { theme } from "@/lib/ui/theme";

/** A component with what every page has around it; nothing is retried, and nothing animates. */
export function renderPage(children: ReactNode) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  // Links need a router; where they lead is the app's affair.
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  return render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={client}>
        <RouterContextProvider router={router as never}>{children}</RouterContextProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
}
