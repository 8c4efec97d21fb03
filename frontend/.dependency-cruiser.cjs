/** The arrows of the frontend: lib <- charts <- shared <- features <- app; a feature knows no other feature. */
module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "lib-knows-nobody",
      severity: "error",
      from: { path: "^src/lib" },
      to: { path: "^src/(app|features|shared|charts)" },
    },
    {
      name: "charts-know-lib-only",
      severity: "error",
      from: { path: "^src/charts" },
      to: { path: "^src/(app|features|shared)" },
    },
    {
      name: "shared-knows-no-feature",
      severity: "error",
      from: { path: "^src/shared" },
      to: { path: "^src/(app|features)" },
    },
    {
      name: "features-do-not-know-the-app",
      severity: "error",
      from: { path: "^src/features" },
      to: { path: "^src/app" },
    },
    {
      name: "features-do-not-know-each-other",
      comment:
        "What two features need is lifted into src/shared; a page of several features is put together in src/app/pages.",
      severity: "error",
      from: { path: "^src/features/([^/]+)/" },
      to: { path: "^src/features/(?!$1/)" },
    },
    {
      name: "echarts-behind-one-wrapper",
      severity: "error",
      from: { pathNot: "^src/charts/" },
      to: { path: "node_modules/echarts" },
    },
    {
      name: "no-test-code-shipped",
      severity: "error",
      from: { pathNot: "(\\.test\\.tsx?$|^src/testing)" },
      to: { path: "^src/testing" },
    },
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
