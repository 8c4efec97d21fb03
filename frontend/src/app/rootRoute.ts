import { createRootRoute } from "@tanstack/react-router";
import { ErrorPage, NotFoundPage } from "./FaultPages";
import { SessionGate } from "./SessionGate";

export const root = createRootRoute({
  component: SessionGate,
  notFoundComponent: NotFoundPage,
  errorComponent: ErrorPage,
});
