import { Button, CopyButton, Stack, Text } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useWholeCatalogue } from "@/lib/api/useCatalogue";

/** For a behaviour of the RNIC itself: what helps meanwhile, and the text for a ticket at its vendor, who alone can change it. */
export function VendorAdvice({ symptom }: { symptom: string }) {
  const { data } = useWholeCatalogue();
  const behaviour = data?.symptoms.find(({ id }) => id === symptom)?.behaviour;
  return (
    <Stack gap={10} align="flex-start">
      <Text size="sm">{behaviour?.advice ?? "No remedy on the host changes what the RNIC's firmware does."}</Text>
      {behaviour && (
        <CopyButton value={behaviour.ticket}>
          {({ copied, copy }) => (
            <Button
              size="sm"
              leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
              onClick={copy}
              aria-live="polite"
            >
              {copied ? "Copied" : "Copy ticket for the vendor"}
            </Button>
          )}
        </CopyButton>
      )}
    </Stack>
  );
}
