/** The arrows of the frontend: lib <- charts <- features <- app, and no feature reaches into another feature's page. */
module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "lib-knows-nobody", severity: "error", from: { path: "^src/lib" }, to: { path: "^src/(app|features|charts)" } },
    { name: "charts-know-lib-only", severity: "error", from: { path: "^src/charts" }, to: { path: "^src/(app|features)" } },
    { name: "features-do-not-know-the-app", severity: "error", from: { path: "^src/features" }, to: { path: "^src/app" } },
    {
      name: "pages-are-for-the-router",
      severity: "error",
      from: { path: "^src/features" },
      to: { path: "^src/features/[^/]+/[A-Z][A-Za-z]*Page\\.tsx$" },
    },
    { name: "echarts-behind-one-wrapper", severity: "error", from: { pathNot: "^src/charts/" }, to: { path: "node_modules/echarts" } },
    { name: "no-test-code-shipped", severity: "error", from: { pathNot: "(\\.test\\.tsx?$|^src/testing)" }, to: { path: "^src/testing" } },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true, pathNot: "\\.css$" } },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "\\.test\\.tsx?$" },
    enhancedResolveOptions: { extensions: [".ts", ".tsx", ".js", ".d.ts", ".json", ".css"] },
  },
};
