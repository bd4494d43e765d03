import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { compat } from './build/compat.mjs';

export default tseslint.config(
  { ignores: ['node_modules', 'build'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  tseslint.configs.strictTypeChecked,
  { languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } } },
  {
    files: ['src/**/*.{ts,tsx}', 'embed/**/*.ts'],
    plugins: { 'react-hooks': hooks, convene: { rules: { compat } } },
    rules: {
      ...hooks.configs.recommended.rules,
      'convene/compat': 'error',
      'max-lines': ['error', 400],
      // Safari says it with a key code alone. Only isComposing of parts/keys.ts knows both.
      'no-restricted-properties': ['error', { property: 'isComposing' }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'NewExpression[callee.name="Room"]',
          message: 'createRoom makes rooms for large meetings.',
        },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  { files: ['src/room/call/createRoom.ts', '**/*.test.ts'], rules: { 'no-restricted-syntax': 'off' } },
  // One as long as the protocol needs, the others as long as there are texts.
  { files: ['src/session/schema.ts', 'src/text/*.ts'], rules: { 'max-lines': 'off' } },
  { files: ['*.config.{js,ts}'], extends: [tseslint.configs.disableTypeChecked] },
);
