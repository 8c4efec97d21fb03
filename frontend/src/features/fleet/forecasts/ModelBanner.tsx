import { Alert } from "@mantine/core";
import { activeModel, modelNotice } from "./activeModel";
import { useForecastModels } from "./queries";

/** One notice for the whole page while no model of this fleet forecasts; nothing otherwise. */
export function ModelBanner() {
  const models = useForecastModels();
  const notice = models.data && modelNotice(activeModel(models.data));
  if (!notice) return null;
  return (
    <Alert
      title={notice.title}
      styles={{
        root: { background: "var(--ww-raised)", border: "1px solid var(--ww-line)" },
        message: { color: "var(--ww-text)" },
        title: { color: "var(--ww-text)" },
      }}
    >
      {notice.text}
    </Alert>
  );
}
