import { DataZoomComponent } from "echarts/components";
import { use as register } from "echarts/core";

register([DataZoomComponent]);
