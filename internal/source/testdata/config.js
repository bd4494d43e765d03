'use strict';

/*
 * Settings of the meeting server.
 *
 * Most of them can come from the environment (see .env); what is written here is used where the environment says
 * nothing. Restart the server after a change.
 */

require('dotenv').config();

const os = require('os');
const fs = require('node:fs');
const path = require('path');
const splitList = require('./lib/splitList');
const packageJson = require('../package.json');

const isProduction = process.env.NODE_ENV === 'production';
const workers = Math.min(4, Math.max(1, Object.keys(os.cpus()).length));
const listenIp = process.env.LISTEN_IP || '0.0.0.0';
const announcedAddress = process.env.ANNOUNCED_ADDRESS ?? firstPublicAddress();

// Ports for media: one range for all workers
const ports = {
    min: Number(process.env.PORT_MIN) || 40000,
    max: Number(process.env.PORT_MAX) || 40100,
};

module.exports = {
    name: packageJson.name,
    version: `${packageJson.version}-${isProduction ? 'release' : 'debug'}`,
    startedAt: new Date().toISOString(),

    console: {
        level: process.env.LOG_LEVEL || 'info',
        colors: !isProduction,
        timeZone: process.env.TZ || 'UTC',
    },

    server: {
        hostUrl: process.env.HOST_URL || `https://localhost:${process.env.PORT || 3010}`,
        listen: {
            ip: listenIp,
            port: parseInt(process.env.PORT, 10) || 3010,
        },
        trustProxy: bool(process.env.TRUST_PROXY, false),
        ssl: {
            // openssl req -x509 -newkey rsa:4096 -nodes -keyout key.pem -out cert.pem -days 365
            cert: path.join(__dirname, '../ssl/cert.pem'),
            key: path.join(__dirname, '../ssl/key.pem'),
            exists: fs.existsSync(path.resolve(__dirname, '..', 'ssl', 'cert.pem')),
        },
        cors: {
            origin: splitList(process.env.CORS_ORIGIN || '*', ','),
            methods: ['GET', 'POST'],
        },
        recording: {
            enabled: bool(process.env.RECORDING_ENABLED, false),
            dir: path.join(os.homedir(), 'recordings'),
            maxFileSize: 1024 * 1024 * 1024, // 1 GiB
        },
    },

    middleware: {
        ipWhitelist: {
            enabled: false,
            allowed: ['127.0.0.1', '::1'],
        },
        refuseAgents: [/curl\//i, /^python-requests/, /bot\b/u],
    },

    api: {
        // The secret that the server's clients send with every request; set one of your own.
        keySecret: process.env.API_KEY_SECRET || 'meetings_default_secret',
        // What may be asked for over the API
        allowed: {
            stats: process.env.API_ALLOW_STATS !== 'false',
            meetings: bool(process.env.API_ALLOW_MEETINGS, false),
            meeting: true,
            meetingEnd: true,
            join: true,
            token: 'false',
            // slack: true,
        },
    },

    jwt: {
        key: process.env.JWT_KEY || 'meetings_jwt_secret',
        exp: process.env.JWT_EXP || '1h',
    },

    oidc: {
        enabled: false,
        config: {
            issuerBaseURL: process.env.OIDC_ISSUER,
            scopes: ['openid', 'profile', 'email'],
            routes: { callback: '/auth/callback', login: false, logout: '/logout' },
        },
    },

    host: {
        protected: false,
        userAuth: true,
        users: [
            { username: 'ada', password: 'not-read-by-anybody', displayname: 'Ada', allowedRooms: ['*'] },
            { username: 'bob', password: 'not-read-either', displayname: 'Bob', allowedRooms: ['stand-up', 'all-hands'] },
        ],
        presenters: { list: ['ada'], joinFirst: true },
    },

    ui: {
        brand: {
            app: { name: 'Meetings', title: 'Meetings<br />without an account', joinLastLabel: 'Your last room' },
            about: { html: `<a href="${'https://meet.example.org'}/about" target="_blank">About</a>` },
        },
        buttons: Object.freeze({
            main: { shareButton: true, hideMeButton: true, startAudioButton: true },
            participantsList: { saveInfoButton: true, sendFileAllButton: true },
        }),
    },

    media: {
        numWorkers: workers,
        worker: {
            rtcMinPort: ports.min,
            rtcMaxPort: ports.max,
            logLevel: 'error',
            logTags: ['info', 'ice', 'dtls', 'rtp'],
        },
        router: {
            mediaCodecs: [
                { kind: 'audio', mimeType: 'audio/opus', clockRate: 48000, channels: 2 },
                { kind: 'video', mimeType: 'video/VP8', clockRate: 90000, parameters: { 'x-google-start-bitrate': 1000 } },
            ],
        },
        transport: {
            listenInfos: ['udp', 'tcp'].map((protocol) => ({ protocol, ip: listenIp, announcedAddress, portRange: { ...ports } })),
            initialAvailableOutgoingBitrate: 1e6,
        },
    },
};

function bool(value, byDefault) {
    if (value === undefined || value === '') return byDefault;
    return ['true', '1', 'yes'].includes(String(value).trim().toLowerCase());
}

/** The first address of this machine that others can reach. */
function firstPublicAddress() {
    const interfaces = os.networkInterfaces();
    for (const device in interfaces) {
        for (const address of interfaces[device]) {
            if (address.family === 'IPv4' && !address.internal) return address.address;
        }
    }
    console.warn('No public address found, set ANNOUNCED_ADDRESS');
    return '127.0.0.1';
}

if (require.main === module) {
    console.log(JSON.stringify(module.exports, null, 2));
    process.exit(0);
}
