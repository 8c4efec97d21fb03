import "@/lib/ui/mantine.css";
import "@/lib/ui/fonts.css";
import "@/lib/ui/tokens.css";
import "@/lib/ui/print.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element with the id root.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
