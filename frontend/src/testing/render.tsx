import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterContextProvider } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { ChartEngine, type Painter } from "@/charts/engine";
import type { Catalogue } from "@/lib/api/types";
import { CATALOGUE_KEY, WHOLE_CATALOGUE_KEY } from "@/lib/api/useCatalogue";
import { theme } from "@/lib/ui/theme";
import { CATALOGUE } from "./catalogue";

/** jsdom has no canvas: what charts paint is tested as options, without a DOM. */
const paintsNothing = (): Painter =>
  ({
    group: "",
    on: () => undefined,
    off: () => undefined,
    setOption: () => undefined,
    resize: () => undefined,
    dispose: () => undefined,
    convertFromPixel: () => Number.NaN,
    getDataURL: () => "",
  }) as unknown as Painter; // the types of ECharts' events are overloads that no plain function meets

/** A component with what every page has around it, the catalogue too; nothing is retried, and nothing animates. */
export function renderPage(children: ReactNode, catalogue: Catalogue | null = CATALOGUE) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  if (catalogue) for (const key of [CATALOGUE_KEY, WHOLE_CATALOGUE_KEY]) client.setQueryData(key, catalogue);
  // Links need a router; where they lead is the app's affair.
  const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });
  return render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={client}>
        <RouterContextProvider router={router as never}>
          <ChartEngine value={paintsNothing}>{children}</ChartEngine>
        </RouterContextProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
}
