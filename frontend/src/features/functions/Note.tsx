import { Alert } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";

/** Something that a reader must know before trusting the figures. */
export function Note({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Alert
      icon={<IconAlertTriangle size={18} />}
      title={title}
      styles={{
        root: { background: "var(--ww-raised)", border: "1px solid var(--ww-warn)" },
        title: { color: "var(--ww-warn)" },
        icon: { color: "var(--ww-warn)" },
        message: { color: "var(--ww-text)" },
      }}
    >
      {children}
    </Alert>
  );
}
