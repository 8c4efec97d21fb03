import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { ZoneProvider } from "@/lib/time/ZoneContext";
import { cssVariablesResolver, theme } from "@/lib/ui/theme";
import { Notices } from "./Notices";
import { makeQueryClient } from "./queryClient";
import { router } from "./router";

const queryClient = makeQueryClient();

export function App() {
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <ZoneProvider>
          <Notices />
          <RouterProvider router={router} />
        </ZoneProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}
