// SPDX-License-Identifier: MIT
// What TypeScript has to know of files that esbuild takes besides.
declare module "*.css";
