// SPDX-License-Identifier: Apache-2.0

'use strict';

const api = document.getElementById('api');

SwaggerUIBundle({
  url: api.dataset.document,
  domNode: api,
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // The key stays in this page: neither storage nor another host sees it.
  persistAuthorization: false,
  validatorUrl: null,
});
