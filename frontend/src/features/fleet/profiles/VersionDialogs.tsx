import { NumberInput, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormDialog } from "@/lib/ui/FormDialog";
import { useCalibrateFromFleet } from "./queries";

const WEEK_H = 24 * 7;

export function FleetDialog({
  model,
  onClose,
  onMade,
}: {
  model: string;
  onClose: () => void;
  onMade: (number: number) => void;
}) {
  const [hours, setHours] = useState<number | string>(24);
  const [firmware, setFirmware] = useState("");
  const [note, setNote] = useState("");
  const calibrate = useCalibrateFromFleet(model);
  const made = (number: number) => {
    onClose();
    onMade(number);
  };
  return (
    <FormDialog
      title={`Fit ${model} to the fleet’s own samples`}
      submit="Fit"
      request={calibrate}
      disabled={typeof hours !== "number"}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        calibrate.mutate(
          { hours: Number(hours), fw_ver: firmware.trim(), note: note.trim() },
          { onSuccess: ({ number }) => made(number) },
        );
      }}
    >
      <Text size="sm">
        Uses minutes in which an RNIC’s rate was steady, in cells of 5 × 5 lookups: then the RNIC was the limit, or its
        traffic needed no more. Latency is not measured in production.
      </Text>
      <NumberInput label="Hours back" min={1} max={WEEK_H} value={hours} onChange={setHours} />
      <TextInput
        label="Firmware"
        description="Empty: all"
        value={firmware}
        onChange={(event) => setFirmware(event.currentTarget.value)}
        maxLength={100}
      />
      <TextInput label="Note" value={note} onChange={(event) => setNote(event.currentTarget.value)} maxLength={200} />
    </FormDialog>
  );
}
